/**
 * Packet captures of a world, as real pcap files.
 *
 *   synthesizeCapture(world, { vm, startMs, durationMs, bytesPerPacket?, filters?, maxBytes? }) → Uint8Array
 *
 * - `world` is a `World` or, when it changes while the capture runs, a `Timeline` (`world/types.ts`).
 * - `vm` is the name of the VM whose NIC is listened to; `startMs` world time in milliseconds since the epoch.
 * - `bytesPerPacket`: how much of each packet is kept (Azure's `--bytes-to-capture-per-packet`; 0 or absent = all).
 * - `filters`: Azure's packet capture filters, as `az … --filters` takes them; a packet passes when one of
 *   them matches; absent = everything. An empty list matches nothing.
 * - `maxBytes`: the capture ends when the file has this size (Azure's `--capture-size-limit`).
 *
 * The bytes are a pure function of (world, options): the same call gives the same file, and two captures of
 * the same minutes at two ends hold the same packets (addresses, ports, IP id, sequence), each with its own
 * clock (a few milliseconds apart) and without what was lost on the way. A VM that does not run, or takes
 * part in no flow, gives a valid file without packets. Throws `WritError` only for an unknown VM or bad numbers.
 *
 * `captureStatistics(…)` returns the same plus counts, for messages such as "10,234 packets".
 */
export { type CaptureOptions, type CaptureResult, captureStatistics, synthesizeCapture } from './capture.ts';
export type { CaptureFilter } from './filter.ts';
