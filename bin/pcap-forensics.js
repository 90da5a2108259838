#!/usr/bin/env node
// The PCAP forensic engine as a command of its own. Plain JavaScript for the same reasons as writ.js.
import { launch } from './launch.js';

launch('cli/pcap-forensics');
