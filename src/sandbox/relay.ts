import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';

/**
 * The one way out of a shut-in program's network: inside its own network namespace this listens on loopback and
 * hands every connection to a Unix socket that was bound in. What goes on from there is decided outside.
 *
 * A program of its own: `relay SOCKET PORT -- PROGRAM ARGS…`. It ends as the program ends.
 */
const [socket = '', port = '', , file = '', ...args] = process.argv.slice(2);

const server = createServer({ allowHalfOpen: true }, (inner) => {
  const outer = connect({ path: socket, allowHalfOpen: true });
  inner.pipe(outer).pipe(inner);
  inner.on('error', () => outer.destroy());
  outer.on('error', () => inner.destroy());
});

server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(file, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(127);
  });
  child.on('exit', (code, signal) => {
    if (signal !== null) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
});
