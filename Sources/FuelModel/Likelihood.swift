/// What is said of a chance, by its whole percent: the reason of a verdict and the advice beside it
/// stand on one page.
package enum Likelihood {
  case veryLikely, likely, open, unlikely

  package init(percent: Int) {
    switch percent {
    case 80...: self = .veryLikely
    case 60...: self = .likely
    case 40...: self = .open
    default: self = .unlikely
    }
  }
}
