// SPDX-License-Identifier: Apache-2.0
import DurableFiles
import Foundation
import TargetKit
import TargetKitTesting
import Testing

@testable import FolderTargetLogic

/// A folder of one test's own; removed with it.
final class Place {
  let path: String

  init() throws {
    path = "\(NSTemporaryDirectory())/folder-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func host(_ more: [(String, FakeValue)] = []) -> FakeHost {
    FakeHost(settings: .object([("directory", .text(path))] + more))
  }

  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
  }

  func read(_ name: String) -> String? {
    FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
  }

  func write(_ name: String, _ text: String) throws {
    try Data(text.utf8).write(to: URL(filePath: "\(path)/\(name)"))
  }
}

extension FakeHost {
  /// Delivers with a kernel whose calls can fail.
  func deliver(_ delivery: FakeDelivery, kernel: Kernel) -> Verdict {
    do throws(Verdict) {
      return try open { host throws(Verdict) in try FolderTarget(host: host, kernel: kernel) }.deliver(delivery)
    } catch {
      return error
    }
  }

  func deliver(_ delivery: FakeDelivery) -> Verdict {
    deliver(FolderTarget.self, delivery)
  }
}

func file(_ text: String, named name: String = "steps.csv", id: String? = nil) -> FakeDelivery {
  var delivery = FakeDelivery(text)
  delivery.fileName = name
  if let id { delivery.deliveryID = id }
  return delivery
}

/// A machine that stops at a call: this one and all that follow fail.
final class PowerCut {
  private(set) var happened = false
  private var left: Int
  private let host: FakeHost

  init(after calls: Int, _ host: FakeHost) {
    left = calls
    self.host = host
  }

  var kernel: Kernel {
    Kernel { _ in
      if self.left == 0 {
        self.happened = true
        self.host.stateFails = true
        return EIO
      }
      self.left -= 1
      return nil
    }
  }
}
