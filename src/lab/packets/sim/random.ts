/**
 * Randomness without state: a draw depends only on what it is about (world, flow, conversation, packet), never
 * on how many draws came before. Two captures of the same minutes therefore agree on which packet was lost,
 * whichever end they listen at and whenever they began.
 */

import { stableNumber } from '../../network/service-tags.ts';

export function seedOf(text: string): number {
  return mix(stableNumber(text), text.length);
}

/** Two numbers into one, well stirred. */
export function mix(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x7f4a7c15, 0xc2b2ae35);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  hash ^= hash >>> 12;
  hash = Math.imul(hash, 0x297a2d39);
  hash ^= hash >>> 15;
  return hash >>> 0;
}

/** Uniform in [0, 1). */
export function draw(seed: number, about: number): number {
  return mix(seed, about) / 0x100000000;
}

export function drawBetween(seed: number, about: number, low: number, high: number): number {
  return low + draw(seed, about) * (high - low);
}
