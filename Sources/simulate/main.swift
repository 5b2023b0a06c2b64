// Runs `bowser simulate`. The market, its server and its faults are in this program, so that the
// one that reads real prices does not contain them.

import Console

Bowser.main(as: simulateCommand) { try await Simulation.run($0) }
