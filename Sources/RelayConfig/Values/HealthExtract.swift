// SPDX-License-Identifier: Apache-2.0

/// How health data is read.
package struct HealthExtract: Equatable, Sendable {
  package var range: ExtractRange
  package var sections: [HealthSection]
  /// Nil: all.
  package var metrics: [String]?
  /// Nil: all.
  package var workoutTypes: [String]?
  package var routes: Bool
  package var workoutDetail: WorkoutDetail
  package var workoutMetadata: Bool
  package var grouping: Grouping
  package var sources: SourceChoice
  package var sleep: SleepForm

  package init(
    range: ExtractRange, sections: [HealthSection], metrics: [String]? = nil, workoutTypes: [String]? = nil,
    routes: Bool, workoutDetail: WorkoutDetail, workoutMetadata: Bool, grouping: Grouping, sources: SourceChoice,
    sleep: SleepForm
  ) {
    self.range = range
    self.sections = sections
    self.metrics = metrics
    self.workoutTypes = workoutTypes
    self.routes = routes
    self.workoutDetail = workoutDetail
    self.workoutMetadata = workoutMetadata
    self.grouping = grouping
    self.sources = sources
    self.sleep = sleep
  }
}

package enum ExtractRange: Equatable, Sendable {
  case changedDays
  case sinceLastRun
  case today
  case yesterday
  case previousDays(Int)
  case lastDays(Int)
  case dates(from: CalendarDate, to: CalendarDate)
  /// A person says which days at each run.
  case ask
}

package enum HealthSection: String, CaseIterable, Sendable {
  case metrics
  case workouts
  case symptoms
  case ecg
  case heartRateNotifications = "heart-rate-notifications"
  case stateOfMind = "state-of-mind"
  case cycleTracking = "cycle-tracking"
  case medications
  case audiograms
  case heartbeats
  case vision
  case activityRings = "activity-rings"
  case characteristics
  case questionnaires
}

package enum WorkoutDetail: String, CaseIterable, Sendable {
  case none
  case minute
  case second
}

package enum GroupingUnit: String, CaseIterable, Sendable {
  case none
  case automatic
  case second
  case minute
  case hour
  case day
  case week
  case month
  case year
}

package enum Grouping: Equatable, Sendable {
  case unit(GroupingUnit)
  case every(milliseconds: Int64)
}

package enum SourceChoice: Equatable, Sendable {
  case merged
  case each
  case preferred([String])
}

package enum SleepForm: String, CaseIterable, Sendable {
  case summarized
  case samples
}
