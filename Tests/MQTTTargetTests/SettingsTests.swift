// SPDX-License-Identifier: Apache-2.0
import MQTTTargetLogic
import Testing
