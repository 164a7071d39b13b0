// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Whether this is a build of `make sanitize`, in which everything takes longer and much more memory.
package enum Sanitizer {
  package static var isOn: Bool { compiler != nil }

  /// What compiles C for this build: the toolchain's compiler, whose sanitizers they are, and its options. nil where there is no
  /// sanitizer.
  static let compiler: [String]? =
    if has("__asan_init") {
      ["clang", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    } else if has("__tsan_init") {
      ["clang", "-fsanitize=thread"]
    } else {
      nil
    }

  /// Why tests that measure memory, or let it run out, are left out of such a build.
  package static let memoryReason = "a sanitizer's shadow memory counts as the program's, and can't be limited"

  /// How much longer a wait may take.
  static let slowness: Double = isOn ? 6 : 1

  private static func has(_ symbol: String) -> Bool { dlsym(dlopen(nil, RTLD_NOW), symbol) != nil }
}
