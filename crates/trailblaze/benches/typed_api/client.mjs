// Makes calls of the typed API with one client, and prints how long they took. `connect` and `grpc` are connect-node.
const [way, address, key] = process.argv.slice(2);
const [WARM_UP, CALLS] = [500, 1000];
let begin = performance.now();
const times = { importMs: [], firstMs: [], hasTextMs: [], tapMs: [], screenMs: [] };
let calls;
if (way === 'sdk') {
  const { TrailblazeClient } = await import('./dist/index.js');
  times.importMs = [-begin + (begin = performance.now())];
  const tb = new TrailblazeClient(address, { key });
  calls = [() => tb.hasText('Sign in'), () => tb.tap({ id: 'email' }), () => tb.captureScreen()];
} else {
  const { createClient } = await import('@connectrpc/connect');
  const node = await import('@connectrpc/connect-node');
  const { TrailblazeCommands } = await import('./gen/trailblaze/v1/commands_pb.js');
  times.importMs = [-begin + (begin = performance.now())];
  const create = way === 'grpc' ? node.createGrpcTransport : node.createConnectTransport;
  const stub = createClient(TrailblazeCommands, create({ baseUrl: address, httpVersion: way === 'grpc' ? '2' : '1.1' }));
  const options = { headers: { authorization: `Bearer ${key}` } };
  const { hasText, tap, captureScreen } = stub;
  calls = [() => hasText({ text: 'Sign in' }, options), () => tap({ id: 'email' }, options), () => captureScreen({}, options)];
}
// The first call includes what it takes to create a client and to connect.
await calls[0]();
times.firstMs = [-begin + (begin = performance.now())];
for (const [n, name] of ['hasTextMs', 'tapMs', 'screenMs'].entries()) {
  for (let run = 0; run < WARM_UP + CALLS; run++) {
    await calls[n]();
    const taken = -begin + (begin = performance.now());
    if (run >= WARM_UP) times[name].push(taken);
  }
}
const p50 = (taken) => taken.sort((a, b) => a - b)[taken.length >> 1];
console.log(JSON.stringify(Object.fromEntries(Object.entries(times).map(([name, taken]) => [name, p50(taken)]))));
// An open HTTP/2 connection would keep the process alive.
process.exit(0);
