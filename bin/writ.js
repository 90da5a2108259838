#!/usr/bin/env node
// Plain JavaScript on purpose: it must start on any Node, answer --version at once, and hand over to a
// Node that can run Writ (>= 24) when the one it was started with cannot.
import { launch } from './launch.js';

launch('cli/run');
