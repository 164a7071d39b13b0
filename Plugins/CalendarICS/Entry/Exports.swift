// SPDX-License-Identifier: Apache-2.0
import CalendarICSLogic
public import TargetABI
import TargetKit

@c @implementation public func relay_target_abi() -> UInt32 {
  TargetEntry<CalendarTarget>.abi()
}

@c @implementation public func relay_target_describe(_ host: UnsafePointer<relay_host>?) -> Int32 {
  TargetEntry<CalendarTarget>.describe(host)
}

@c @implementation public func relay_target_open(
  _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
  _ verdict: UnsafeMutablePointer<relay_verdict>?
) -> Int32 {
  TargetEntry<CalendarTarget>.open(host, instance, verdict)
}

@c @implementation public func relay_target_deliver(
  _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutableRawPointer?, _ delivery: UnsafePointer<relay_delivery>?,
  _ verdict: UnsafeMutablePointer<relay_verdict>?
) -> Int32 {
  TargetEntry<CalendarTarget>.deliver(host, instance, delivery, verdict)
}

@c @implementation public func relay_target_check(
  _ host: UnsafePointer<relay_host>?, _ instance: UnsafeMutableRawPointer?,
  _ verdict: UnsafeMutablePointer<relay_verdict>?
) -> Int32 {
  TargetEntry<CalendarTarget>.check(host, instance, verdict)
}

@c @implementation public func relay_target_close(_ instance: UnsafeMutableRawPointer?) {
  TargetEntry<CalendarTarget>.close(instance)
}
