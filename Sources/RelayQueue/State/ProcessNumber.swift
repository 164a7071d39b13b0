// SPDX-License-Identifier: Apache-2.0
import Glibc

enum ProcessNumber {
  static var own: Int32 { getpid() }
}
