// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0
// One section a layer, in the order of docs/architecture.md: a module imports only what stands above it here.
import PackageDescription

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// For `make simulate-broken` alone: a build in which a promise can be broken on purpose.
let broken: [SwiftSetting] = Context.environment["RELAY_BROKEN"] == nil ? [] : [.define("RELAY_BROKEN")]

let strictC: [CSetting] = [
  .unsafeFlags(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden"])
]

/// Keeps the Swift runtime, which the package manager links to every program, out of a program in C.
let libcOnly = [
  "-nostartfiles", "-no-toolchain-stdlib-rpath", "-use-ld=lld", "-Xlinker", "--remap-inputs=*libswiftCore.so=/dev/null",
]

/// With the Swift runtime inside, the command starts in two thirds of the time that it takes to load seven libraries and bind
/// them to each other: whoever submits by the command waits for that each time. Plugins go on sharing the runtime in dist/lib.
let quickStart: LinkerSetting = .unsafeFlags(
  ["-static-stdlib", "-Xlinker", "--as-needed", "-Xlinker", "--gc-sections"], .when(configuration: .release))

/// A C library of the distribution, found by pkg-config.
func library(_ name: String, pkgConfig: String, package: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

/// A module of ours with its tests; `tests` names what the tests need besides the module.
func module(_ name: String, _ dependencies: [Target.Dependency], _ more: [SwiftSetting] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Sources/\(name)", swiftSettings: strict + more)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, swiftSettings: strict)
}

/// A target plugin: its logic, which tests link, and the few exported functions, which only the shared object holds.
func plugin(_ name: String, _ dependencies: [Target.Dependency]) -> [Target] {
  [
    .target(
      name: "\(name)Logic", dependencies: ["TargetABI", "TargetKit"] + dependencies, path: "Plugins/\(name)/Logic",
      swiftSettings: strict),
    .target(
      name: name, dependencies: ["TargetABI", "TargetKit", .target(name: "\(name)Logic")],
      path: "Plugins/\(name)/Entry",
      swiftSettings: strict,
      linkerSettings: [
        .unsafeFlags([
          "-Xlinker", "--version-script=\(Context.packageDirectory)/Plugins/exports.map", "-Xlinker", "-z", "-Xlinker",
          "nodelete",
        ])
      ]),
  ]
}

let plugins = ["HTTPTarget", "FolderTarget", "CalendarICS", "SMTPTarget", "MailServiceTarget", "MQTTTarget"]

var targets: [Target] = []

// The border: what a target and a worker are written against.
targets += [
  .target(name: "TargetABI", path: "Sources/TargetABI", cSettings: strictC),
  module("TargetKit", ["TargetABI"]),
  module("TargetKitTesting", ["TargetABI", "TargetKit"]),
  tests("TargetKitTests", ["TargetABI", "TargetKit", "TargetKitTesting"]),
  library("CSeccomp", pkgConfig: "libseccomp", package: "libseccomp-dev"),
  .target(name: "RelayWorkerProtocol", path: "Sources/RelayWorker/Protocol", cSettings: strictC),
  .executableTarget(
    name: "relay-worker", dependencies: ["TargetABI", "RelayWorkerProtocol", "CSeccomp"],
    path: "Sources/RelayWorker/Program",
    cSettings: strictC, linkerSettings: [.unsafeFlags(libcOnly)]),
]

targets += [
  .target(name: "CRelayTestSupport", path: "Tests/CRelayTestSupport", cSettings: strictC),
  .target(
    name: "RelayTestSupport", dependencies: ["CRelayTestSupport"], path: "Tests/RelayTestSupport", swiftSettings: strict
  ),
  tests("TargetABITests", ["TargetABI", "RelayTestSupport"], exclude: ["Golden"]),
]

// The ground: the kernel, JSON, archives.
targets += [
  library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
  library("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
  library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
  // Without pkg-config, which would link it: it is loaded when it is needed.
  .systemLibrary(
    name: "CArchive", path: "Sources/CLibraries/CArchive", providers: [.apt(["libarchive-dev"])]),
  library("CMosquitto", pkgConfig: "libmosquitto", package: "libmosquitto-dev"),
  library("CICal", pkgConfig: "libical", package: "libical-dev"),
  .target(name: "CRelaySystem", path: "Sources/CRelaySystem", cSettings: strictC),
  module("RelaySystem", ["CRelaySystem"]),
  tests("RelaySystemTests", ["RelaySystem"]),
  module("RelayJSON", []),
  module("RelayArchive", ["RelaySystem", "CZlib", "COpenSSL", "CArchive"]),
  tests("RelayArchiveTests", ["RelayArchive", "RelaySystem", "RelayTestSupport"]),
]

targets += [tests("RelayJSONTests", ["RelayJSON"])]

// The way of an artifact: what is configured, kept and delivered.
targets += [
  module("RelayConfig", ["RelayJSON", "RelaySystem"]),
  module("RelayQueue", ["RelaySystem", "RelayJSON", "RelayArchive"], broken),
  tests(
    "RelayQueueTests",
    [
      "RelayQueue", "RelaySystem", "RelayJSON", "RelayArchive", "RelayTestSupport", "ScenarioSupport",
      .target(name: "relay-bench"),
    ]),
  module(
    "RelayDelivery",
    ["RelaySystem", "RelayJSON", "RelayArchive", "RelayQueue", "RelayConfig", "TargetABI", "RelayWorkerProtocol"],
    broken),
  module("RelayTemplates", ["RelayJSON"]),
]
targets += [
  tests(
    "RelayDeliveryTests",
    [
      "RelayDelivery", "RelayWorkerProtocol", "TargetABI", "RelayQueue", "RelayConfig", "RelayJSON", "RelaySystem",
      "RelayTestSupport",
    ]),
  tests(
    "RelayWorkerTests",
    [
      "RelayDelivery", "RelayConfig", "RelaySystem", "RelayWorkerProtocol", "TargetABI", "RelayTestSupport",
      .target(name: "relay-worker"),
    ]),
]

targets += [
  tests("RelayConfigTests", ["RelayConfig", "RelayJSON", "RelaySystem"], exclude: ["Golden"]),
  tests("RelayTemplatesTests", ["RelayTemplates"]),
]

// The plugins: each may use TargetKit and its own C library, nothing of the host.
// What several of them share is linked into each.
targets += [
  .target(
    name: "LocalNames", dependencies: ["TargetKit"], path: "Plugins/Shared/LocalNames", swiftSettings: strict),
  .target(
    name: "CurlTransport", dependencies: ["TargetKit", "LocalNames", "CCurl", "COpenSSL"],
    path: "Plugins/Shared/CurlTransport",
    swiftSettings: strict),
  .target(
    name: "MailSyntax", dependencies: ["TargetKit", "CCurl"], path: "Plugins/Shared/MailSyntax", swiftSettings: strict),
  .target(
    name: "DurableFiles", dependencies: ["TargetKit"], path: "Plugins/Shared/DurableFiles", swiftSettings: strict),
]
targets += plugin("HTTPTarget", ["CurlTransport", "COpenSSL", "CZlib"])
targets += plugin("FolderTarget", ["DurableFiles", "CFolderTarget"])
targets += plugin("CalendarICS", ["CurlTransport", "DurableFiles", "RelayJSON", "CCurl", "CICal", "COpenSSL"])
targets += plugin("SMTPTarget", ["CurlTransport", "MailSyntax", "CCurl"])
targets += plugin("MailServiceTarget", ["CurlTransport", "MailSyntax", "RelayJSON"])
targets += plugin("MQTTTarget", ["LocalNames", "RelayJSON", "CMosquitto"])
targets += [
  .target(name: "CFolderTarget", path: "Plugins/FolderTarget/System", cSettings: strictC),
  .target(name: "TestPrograms", path: "Tests/Programs", swiftSettings: strict),
  tests(
    "HTTPTargetTests",
    [
      "HTTPTargetLogic", "CurlTransport", "TargetKit", "TargetKitTesting", "TestPrograms", "RelayTestSupport", "CCurl",
      "RelayConfig",
    ]),
  tests("LocalNamesTests", ["LocalNames", "TargetKit", "TargetKitTesting", "TestPrograms", "RelayTestSupport"]),
  tests(
    "FolderTargetTests",
    ["FolderTargetLogic", "DurableFiles", "TargetKit", "TargetKitTesting", "TestPrograms", "RelayConfig"]),
  tests(
    "MQTTTargetTests",
    ["MQTTTargetLogic", "TargetKit", "TargetKitTesting", "TestPrograms", "RelayTestSupport", "RelayConfig"]),
  tests(
    "CalendarICSTests",
    [
      "CalendarICSLogic", "CurlTransport", "DurableFiles", "TargetKit", "TargetKitTesting", "TestPrograms",
      "RelayTestSupport", "RelayConfig", "RelayJSON", "CCurl",
    ]),
  tests(
    "SMTPTargetTests",
    [
      "SMTPTargetLogic", "CurlTransport", "TargetKit", "TargetKitTesting", "TestPrograms", "RelayTestSupport", "CCurl",
      "RelayConfig",
    ]),
  tests(
    "MailServiceTargetTests",
    [
      "MailServiceTargetLogic", "CurlTransport", "MailSyntax", "TargetKit", "TargetKitTesting", "TestPrograms",
      "RelayTestSupport", "RelayConfig", "CCurl",
    ]),
]

// The use cases and the program.
targets += [
  module(
    "RelayPipelines",
    ["RelaySystem", "RelayJSON", "RelayArchive", "RelayConfig", "RelayQueue", "RelayDelivery", "RelayTemplates"]),
  .executableTarget(
    name: "relay-host",
    dependencies: ["RelaySystem", "RelayJSON", "RelayConfig", "RelayQueue", "RelayDelivery", "RelayPipelines"],
    path: "Sources/RelayHost",
    swiftSettings: strict, linkerSettings: [quickStart]),
]
targets += [
  tests(
    "RelayPipelinesTests",
    ["RelayPipelines", "RelayQueue", "RelaySystem", "RelayDelivery", "RelayJSON", "RelayConfig", "RelayTestSupport"])
]

// The whole, from outside: the built programs against real receivers.
targets += [
  .target(
    name: "ScenarioSupport", dependencies: ["RelaySystem", "RelayJSON", "RelayTestSupport", "TestPrograms"],
    path: "Tests/ScenarioSupport", swiftSettings: strict),
  tests(
    "ScenarioTests",
    [
      "ScenarioSupport", "RelaySystem", "RelayJSON", "RelayTestSupport", "TestPrograms", "relay-host", "relay-worker",
    ],
    exclude: ["Golden"]),
]

// Proof: who judges what became of what was accepted, and what breaks the program to let it judge.
targets += [
  .target(name: "RelayOracle", path: "Tests/Proof/Oracle", swiftSettings: strict),
  tests(
    "ProofTests",
    ["RelayOracle", "RelaySimulation", "RelayTestSupport", "relay-host", "relay-worker", .target(name: "relay-proof")]),
  .executableTarget(
    name: "relay-proof",
    dependencies: [
      "RelaySimulation", "RelayOracle", "ScenarioSupport", "RelaySystem", "RelayJSON", "RelayArchive",
      "RelayTestSupport", "TestPrograms", "relay-host", "relay-worker",
    ],
    path: "Tests/Proof/Program", swiftSettings: strict),
]

// What `make bench` measures with; not shipped.
targets += [
  .executableTarget(
    name: "bench-receiver", path: "Benchmarks/Receiver", cSettings: strictC, linkerSettings: [.unsafeFlags(libcOnly)]),
  .executableTarget(
    name: "relay-bench", dependencies: ["RelaySystem", "RelayArchive", "RelayQueue", "RelayPipelines"],
    path: "Benchmarks/Program",
    swiftSettings: strict),
]

// Proof: the delivery logic in a simulated world.
targets += [
  .target(
    name: "RelaySimulation",
    dependencies: ["RelayOracle", "RelaySystem", "RelayJSON", "RelayArchive", "RelayQueue", "RelayDelivery"],
    path: "Tests/Proof/Simulation", exclude: ["kept-seeds.txt"], swiftSettings: strict)
]

// What holds for the repository as a whole.
targets += [tests("RepositoryTests", ["RelayTestSupport", "relay-host", "relay-worker"])]

// Readers tried with any bytes (docs/fuzzing.md). The tests replay a corpus; the fuzzer takes the tests' place when
// RELAY_FUZZ is set, because it links only with the flags of `make fuzz`.
let fuzzed: [Target.Dependency] = [
  "RelaySystem", "RelayJSON", "RelayArchive", "RelayConfig", "RelayQueue", "RelayDelivery", "RelayTemplates",
  "RelayPipelines", "RelayWorkerProtocol", "TargetABI", "CFuzzWorker",
]
targets += [
  .target(
    name: "CFuzzWorker", dependencies: ["TargetABI", "RelayWorkerProtocol"], path: "Fuzz/Worker", cSettings: strictC),
  Context.environment["RELAY_FUZZ"] == nil
    ? .testTarget(
      name: "FuzzTests", dependencies: fuzzed + ["RelayTestSupport"], path: "Fuzz",
      exclude: ["Main", "Worker", "corpus", "dictionaries"],
      swiftSettings: strict)
    : .executableTarget(
      name: "relay-fuzz", dependencies: fuzzed, path: "Fuzz",
      exclude: ["Replay", "Worker", "corpus", "dictionaries"],
      swiftSettings: strict, linkerSettings: [.unsafeFlags(["-use-ld=lld"])]),
]

let package = Package(
  name: "relay-host",
  products: [
    .executable(name: "relay-host", targets: ["relay-host"]),
    .executable(name: "relay-worker", targets: ["relay-worker"]),
  ] + plugins.map { .library(name: $0, type: .dynamic, targets: [$0]) },
  targets: targets
)
