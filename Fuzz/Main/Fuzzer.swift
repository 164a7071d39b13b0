// SPDX-License-Identifier: Apache-2.0
import CFuzzWorker
import Glibc

/// libFuzzer with the reader that RELAY_FUZZ_TARGET names.
@main
enum Fuzzer {
  private static let target: FuzzTarget = {
    let name = getenv("RELAY_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
      say("RELAY_FUZZ_TARGET must be one of: \(FuzzTarget.all.map(\.name).joined(separator: " "))")
      exit(2)
    }
    return target
  }()

  static func main() {
    _ = target
    var count = CommandLine.argc
    var words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    exit(
      LLVMFuzzerRunDriver(&count, &words) { start, count in
        do {
          try Fuzzer.target.run(Array(UnsafeBufferPointer(start: start, count: count)))
        } catch {
          // libFuzzer keeps the input and prints where.
          Fuzzer.say("\nBroken promise of \(Fuzzer.target.name): \(error)")
          abort()
        }
        return 0
      })
  }

  private static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}
