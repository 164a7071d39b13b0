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

let plugins = ["MailServiceTarget", "HTTPTarget"]
var targets: [Target] = []
targets += [
  .target(name: "TargetABI", path: "Sources/TargetABI", cSettings: strictC),
  module("TargetKit", ["TargetABI"]),
  module("TargetKitTesting", ["TargetABI", "TargetKit"]),
  .target(name: "CRelayTestSupport", path: "Tests/CRelayTestSupport", cSettings: strictC),
  .target(
    name: "RelayTestSupport", dependencies: ["CRelayTestSupport"], path: "Tests/RelayTestSupport", swiftSettings: strict
  ),
  library("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
  library("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
  library("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
  .target(
    name: "CurlTransport", dependencies: ["TargetKit", "CCurl", "COpenSSL"], path: "Plugins/Shared/CurlTransport",
    swiftSettings: strict),
  .target(name: "TestPrograms", path: "Tests/Programs", swiftSettings: strict),
  .target(name: "CRelaySystem", path: "Sources/CRelaySystem", cSettings: strictC),
  module("RelaySystem", ["CRelaySystem"]),
  module("RelayJSON", []),
  module("RelayConfig", ["RelayJSON", "RelaySystem"]),
]
targets += plugin("HTTPTarget", ["CurlTransport", "COpenSSL", "CZlib"])
targets += plugin("MailServiceTarget", ["CurlTransport", "RelayJSON"])
targets += [
  tests(
    "MailServiceTargetTests",
    [
      "MailServiceTargetLogic", "CurlTransport", "TargetKit", "TargetKitTesting", "TestPrograms", "RelayTestSupport",
      "RelayConfig", "CCurl",
    ]),
]
let package = Package(name: "relay-host",
  products: plugins.map { .library(name: $0, type: .dynamic, targets: [$0]) },
  targets: targets)
