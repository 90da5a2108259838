/** Flights: engines, artifacts, plan-token, preflight, approval, take-off, recovery. */
export { BUILTIN_ENGINES } from './builtin.ts';
export { readPrinted } from './command-plan.ts';
export type { CommandRunner, FlightDeps } from './deps.ts';
export { answerOf, type FlightAnswer, type FlightStatus, resumeFlight, runFlight } from './flight.ts';
export { type ListedFlight, listFlights, readFlight } from './listing.ts';
export { type Look, type PlannedRemedies, planRemedies, proposeFlight } from './propose.ts';
export { flightStatus, type Settlement, settleFlight } from './settle.ts';
export { findFlightFiles, verifyFlightFile } from './verify.ts';
export { loadWorkflow, workflowSchema } from './workflow.ts';
