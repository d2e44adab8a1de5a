// What each version of the SDK does with the server. Prints one object.
export async function use(client, call) {
  const text = (result) => result.content.map((block) => block.text ?? block.type).join('\n');
  const { tools } = await client.listTools();
  const progress = [];
  const opened = await call(
    'session',
    { action: 'open', device: 'android/sim-1', url: 'com.example.counter' },
    (step) => progress.push(step.message),
  );
  const acted = await call('act', { step: 'Add one', calls: [{ tool: 'tap', args: { id: 'add' } }] });
  const wrong = await call('act', { calls: [{ tool: 'tap', args: { id: 'nothing', timeoutMs: 100 } }] });
  const picture = await call('screenshot', {});
  const { resources } = await client.listResources();
  const registry = await client.readResource({ uri: 'trailblaze://registry' });
  await call('session', { action: 'close' });
  console.log(
    JSON.stringify({
      server: client.getServerVersion()?.name,
      tools: tools.map((tool) => tool.name),
      opened: text(opened),
      acted: text(acted),
      wrong: wrong.isError,
      picture: picture.content.map((block) => block.mimeType ?? block.type),
      resources: resources.map((resource) => resource.uri),
      registry: Object.keys(JSON.parse(registry.contents[0].text).tools).length > 10,
      progress,
    }),
  );
  await client.close();
}
