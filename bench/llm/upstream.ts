/** A stand-in for a model: answers every POST with a stream of tokens at a steady pace. Prints its port. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const [chunks = 20, everyMs = 20] = process.argv.slice(2).map(Number);
const event = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const token = Buffer.from(event({ content: 'a token ' }, null));
const last = Buffer.from(`${event({}, 'stop')}data: [DONE]\n\n`);

const server = createServer((req, res) => {
  req.resume().on('end', () => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    let sent = 0;
    const timer = setInterval(() => {
      if (++sent < chunks) res.write(token);
      else {
        clearInterval(timer);
        res.end(last);
      }
    }, everyMs);
    res.on('close', () => clearInterval(timer));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
