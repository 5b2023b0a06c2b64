import Archives
import Configuration
import Feeds
import Foundation
import Pipeline
import Postgres
import Store

/// How a command ended, with the numbers of sysexits(3).
///
/// The cases are in the order in which the worst code of several feeds is found. What needs a person
/// is worse than what heals by itself.
package enum ExitCode: Int32, CaseIterable, Sendable {
  case done = 0
  case tryAgain = 75
  case unavailable = 69
  case refused = 65
  case inputOutput = 74
  case notAllowed = 77
  case configuration = 78
  case usage = 64
  case ourBug = 70

  /// Returns the worse of two codes.
  func worse(than other: ExitCode) -> ExitCode {
    Self.allCases.last { $0 == self || $0 == other } ?? self
  }

  init(for error: any Error) {
    switch error {
    case is UsageError: self = .usage
    case let error as ConfigurationError:
      if case .unknownFeed = error { self = .usage } else { self = .configuration }
    case let error as FeedError:
      switch error {
      case .unavailable: self = .unavailable
      case .notAllowed: self = .notAllowed
      case .addressRefused: self = .configuration
      case .comeBack, .outOfTime: self = .tryAgain
      case .malformed, .refused: self = .refused
      }
    case is Refusal, is ArchiveRefusal: self = .refused
    case let error as CSVFileError:
      if case .unreadable = error { self = .inputOutput } else { self = .refused }
    case let error as Backfill.Failure:
      switch error {
      case .busy: self = .tryAgain
      case .noFiles, .noFile, .noRegularFile, .unreadable: self = .inputOutput
      }
    case let error as IngestError:
      switch error {
      case .busy, .notBefore, .quotaSpent, .clockIsWrong, .clocksDiffer: self = .tryAgain
      case .off: self = .configuration
      case .recording: self = .inputOutput
      }
    case let error as Withdrawal.Refused:
      switch error {
      case .unknown, .noneOf: self = .usage
      default: self = .refused
      }
    case is Aggregate.Failure, is FileOutput.Busy, is Receivers.NotTaken: self = .tryAgain
    case let error as BodyError:
      switch error {
      case .unknownRun: self = .usage
      case .notKept: self = .inputOutput
      case .withdrawn, .unkept: self = .refused
      }
    case is Migrator.Refusal, is MissingProgram: self = .configuration
    case let error as PostgresError:
      if error.isLoginRefused {
        self = .notAllowed
      } else if error.isMisconfigured {
        self = .configuration
      } else if error.isOfStorage {
        self = .inputOutput
      } else {
        self = error.mayHeal ? .tryAgain : .ourBug
      }
    case is CocoaError, is FileOutput.Failure: self = .inputOutput
    default: self = .ourBug
    }
  }
}
