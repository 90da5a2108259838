/**
 * Lab: a simulated Azure. A world file becomes a lab directory with stand-ins for `az`, `ping`, `dig` and the
 * like; whoever puts its `bin` first on PATH works in that world.
 */
export {
  readTroubles,
  TROUBLE_KINDS,
  type Trouble,
  type TroubleKind,
  writeTroubles,
} from './az/troubles.ts';
export { MAX_SPEED, speedFromEnvironment } from './lab/clock.ts';
export { labClock } from './lab/lab-clock.ts';
export { readLeftovers } from './lab/leftovers.ts';
export { type PreparedLab, type PrepareOptions, prepareLab } from './lab/prepare.ts';
export { trace } from './network/trace.ts';
export type { Trace } from './network/types.ts';
export { TOOL_NAMES } from './tools/index.ts';
export {
  type CheckedWorld,
  checkWorld,
  listWorlds,
  type WorldSummary,
  worldFile,
} from './world/catalogue.ts';
export { loadWorld, parseWorld } from './world/load.ts';
export { loadTruth, type Truth, type TruthCause } from './world/truth.ts';
export type { Timeline, World } from './world/types.ts';
