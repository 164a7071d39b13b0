// SPDX-License-Identifier: Apache-2.0
import TargetABI

extension FakeHost {
  private static func from(_ context: UnsafeMutableRawPointer?) -> FakeHost? {
    context.map { Unmanaged<FakeHost>.fromOpaque($0).takeUnretainedValue() }
  }

  private static func text(_ bytes: UnsafePointer<CChar>?, _ length: UInt64) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(length)))
  }

  private static func key(_ bytes: UnsafePointer<CChar>?) -> String {
    bytes.map { String(cString: $0) } ?? ""
  }

  /// The table that the host hands to a target.
  func makeTable() -> relay_host {
    var table = relay_host()
    table.size = UInt32(MemoryLayout<relay_host>.size)
    table.abi = UInt32(RELAY_TARGET_ABI_MAJOR) << 16 | UInt32(RELAY_TARGET_ABI_MINOR)
    table.context = Unmanaged.passUnretained(self).toOpaque()
    addLife(&table)
    addSource(&table)
    addSettings(&table)
    addState(&table)
    return table
  }

  private func addLife(_ table: inout relay_host) {
    table.log = { context, level, bytes, length in
      FakeHost.from(context)?.logged.append((level, String(decoding: FakeHost.text(bytes, length), as: UTF8.self)))
    }
    table.progress = { context, done, total in FakeHost.from(context)?.progressed.append((done, total)) }
    table.should_stop = { context in
      guard let host = FakeHost.from(context) else { return 1 }
      return host.stopWhen(host) ? 1 : 0
    }
    table.emit_manifest = { context, bytes, length in
      FakeHost.from(context)?.manifest = String(decoding: FakeHost.text(bytes, length), as: UTF8.self)
      return RELAY_OK
    }
    table.set_message = { context, bytes, length in
      FakeHost.from(context)?.message = String(decoding: FakeHost.text(bytes, length), as: UTF8.self)
    }
    table.set_receipt = { context, bytes, length in
      FakeHost.from(context)?.receipt = String(decoding: FakeHost.text(bytes, length), as: UTF8.self)
    }
  }

  private func addSource(_ table: inout relay_host) {
    table.read = { context, buffer, capacity in
      guard let host = FakeHost.from(context), let buffer else { return -1 }
      host.beforeRead(host.offset)
      if host.stopWhen(host) { return -1 }
      let left = host.source.length - host.offset
      let count = min(left, capacity, UInt64(host.largestRead))
      if host.source.isDamaged, count == left { return -1 }
      host.source.fill(host.offset, UnsafeMutableRawBufferPointer(start: buffer, count: Int(count)))
      host.offset += count
      host.bytesRead += count
      return Int64(count)
    }
    table.rewind = { context in
      guard let host = FakeHost.from(context) else { return RELAY_FAILED }
      host.offset = 0
      host.rewinds += 1
      return RELAY_OK
    }
  }

  private func addSettings(_ table: inout relay_host) {
    table.setting_text = { context, path, value in
      guard let host = FakeHost.from(context) else { return RELAY_FAILED }
      if host.secrets[FakeHost.key(path)] != nil { return RELAY_DENIED }
      switch host.setting(FakeHost.key(path)) {
      case .text(let text)?: value?.pointee = host.lend(text)
      case nil: return RELAY_ABSENT
      default: return RELAY_FAILED
      }
      return RELAY_OK
    }
    table.setting_integer = { context, path, value in
      guard case .integer(let number) = FakeHost.from(context)?.setting(FakeHost.key(path)) else { return RELAY_ABSENT }
      value?.pointee = number
      return RELAY_OK
    }
    table.setting_flag = { context, path, value in
      guard case .flag(let flag) = FakeHost.from(context)?.setting(FakeHost.key(path)) else { return RELAY_ABSENT }
      value?.pointee = flag ? 1 : 0
      return RELAY_OK
    }
    table.setting_count = { context, path, value in
      switch FakeHost.from(context)?.setting(FakeHost.key(path)) {
      case .list(let elements): value?.pointee = UInt64(elements.count)
      case .object(let members): value?.pointee = UInt64(members.count)
      default: return RELAY_ABSENT
      }
      return RELAY_OK
    }
    table.setting_name = { context, path, index, name in
      guard let host = FakeHost.from(context), case .object(let members) = host.setting(FakeHost.key(path)),
        members.indices.contains(Int(index))
      else { return RELAY_ABSENT }
      name?.pointee = host.lend(members[Int(index)].0)
      return RELAY_OK
    }
    table.settings_json = { context, json in
      guard let host = FakeHost.from(context) else { return RELAY_FAILED }
      json?.pointee = host.lend(host.settings.json)
      return RELAY_OK
    }
    table.secret = { context, path, value in
      guard let host = FakeHost.from(context), let secret = host.secrets[FakeHost.key(path)] else {
        return RELAY_ABSENT
      }
      value?.pointee = host.lend(secret)
      return RELAY_OK
    }
  }

  private func addState(_ table: inout relay_host) {
    table.state_get = { context, scope, key, value in
      guard let host = FakeHost.from(context), !host.stateFails else { return RELAY_FAILED }
      guard let bytes = host.state(scope)[FakeHost.key(key)] else { return RELAY_ABSENT }
      value?.pointee = host.lend(bytes)
      return RELAY_OK
    }
    table.state_put = { context, scope, key, bytes, length in
      guard let host = FakeHost.from(context), !host.stateFails else { return RELAY_FAILED }
      guard !host.stateIsFull, length <= RELAY_MAXIMUM_STATE_VALUE else { return RELAY_DENIED }
      host.statePuts.append("\(scope) \(FakeHost.key(key))")
      host.change(scope) { $0[FakeHost.key(key)] = FakeHost.text(bytes, length) }
      return RELAY_OK
    }
    table.state_delete = { context, scope, key in
      guard let host = FakeHost.from(context), !host.stateFails else { return RELAY_FAILED }
      host.change(scope) { $0[FakeHost.key(key)] = nil }
      return RELAY_OK
    }
    table.state_next = { context, scope, after, key in
      guard let host = FakeHost.from(context), !host.stateFails else { return RELAY_FAILED }
      guard let next = host.state(scope).keys.sorted().first(where: { $0 > FakeHost.key(after) }) else {
        return RELAY_ABSENT
      }
      key?.pointee = host.lend(next)
      return RELAY_OK
    }
  }

  private func state(_ scope: Int32) -> [String: [UInt8]] {
    scope == RELAY_STATE_PIPELINE ? pipelineState : deliveryState
  }

  private func change(_ scope: Int32, _ body: (inout [String: [UInt8]]) -> Void) {
    if scope == RELAY_STATE_PIPELINE { body(&pipelineState) } else { body(&deliveryState) }
  }
}
