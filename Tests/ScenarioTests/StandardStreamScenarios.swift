// SPDX-License-Identifier: Apache-2.0
import Glibc
import RelaySystem
import RelayTestSupport
import ScenarioSupport
import Testing

@Suite struct `The standard streams` {
  @Test func `hold nothing up when nobody reads them, and the log says later what was lost`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    // A pipe of one page whose reader waits for a file before it reads: some twenty lines fill it.
    let held = try host.shell(
      """
      mkfifo pipe
      python3 -c '
      import fcntl, os, time
      reader = os.open("pipe", os.O_RDWR)
      fcntl.fcntl(reader, 1031, 4096)
      open("held", "w").close()
      while not os.path.exists("read"): time.sleep(0.01)
      with open("lines", "wb", 0) as lines:
        while True: lines.write(os.read(reader, 65536))
      ' >reader 2>&1 & echo $! >reader.pid
      until [ -e held ]; do sleep 0.01; done
      "$relay" --config "$config" --log-level debug 2>pipe & echo $! >daemon.pid
      for number in $(seq 60); do echo "$number" >"$number.txt"; done
      until relay status files >status 2>&1 && ! grep -q "No daemon" status; do sleep 0.05; done
      for number in $(seq 60); do relay submit files "$number.txt" >submitted || exit 1; done
      """)
    #expect(held.status == 0, "\(held)")
    #expect(eventually(within: 60) { host.names(in: "out").count == 60 })
    try host.write("read", "")
    #expect(try host.shell("relay submit files 1.txt; relay pause files").status == 0)
    #expect(eventually { host.text(of: "lines").contains("lines of this log were lost") })
    let ended = try host.shell(
      "kill $(cat daemon.pid); while kill -0 $(cat daemon.pid) 2>&-; do sleep 0.05; done; kill $(cat reader.pid)")
    #expect(ended.status == 0, "\(ended)")
  }

  @Test func `when closed, are not taken by the program's own files`() throws {
    let host = try Installation()
    try host.configure(Installation.filing("files"))
    let done = try host.shell(
      """
      echo one >one.txt
      "$relay" --config "$config" <&- >&- 2>&- & pid=$!
      until relay status files >status 2>&1 && ! grep -q "No daemon" status; do sleep 0.05; done
      relay submit files one.txt >submitted
      until [ -e out/one.txt ]; do sleep 0.05; done
      readlink /proc/$pid/fd/0 /proc/$pid/fd/1 /proc/$pid/fd/2 >streams
      kill $pid; wait $pid
      """)
    #expect(done.status == 0, "\(done)")
    #expect(host.text(of: "streams") == "/dev/null\n/dev/null\n/dev/null\n")
  }
}
