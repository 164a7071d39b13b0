// SPDX-License-Identifier: Apache-2.0
// relay-proof: breaks Relay Host in every way that can be made here, and judges what is left.
import Glibc

signal(SIGPIPE, SIG_IGN)
exit(ProofCommand.run(Array(CommandLine.arguments.dropFirst())))
