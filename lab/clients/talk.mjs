// Connects with the TypeScript SDK, lists and calls; reads its orders from standard input and prints what it heard.
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const read = async (stream) => {
  let text = "";
  for await (const piece of stream.setEncoding("utf8")) text += piece;
  return text;
};

const orders = JSON.parse(await read(process.stdin));
const load = createRequire(join(orders.folder, "package.json"));
const roots = orders.roots.map((folder) => ({ uri: pathToFileURL(folder).href, name: "project" }));
const answerRoots = async () => ({ roots });
const capabilities = roots.length ? { roots: {} } : {};
const info = { name: "told-lab", version: "1.0.0" };
const timeout = orders.seconds * 1000;

function older() {
  const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
  const { ListRootsRequestSchema } = load("@modelcontextprotocol/sdk/types.js");
  const client = new Client(info, { capabilities });
  if (roots.length) client.setRequestHandler(ListRootsRequestSchema, answerRoots);
  return {
    client,
    transport: new StdioClientTransport({ ...orders.server, stderr: "ignore" }),
    call: (call) => client.callTool(call, undefined, { timeout }),
  };
}

function newer() {
  const { Client } = load("@modelcontextprotocol/client");
  const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");
  const mode = orders.era === "initialize" ? "legacy" : { pin: orders.era };
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  if (roots.length) client.setRequestHandler("roots/list", answerRoots);
  return {
    client,
    transport: new StdioClientTransport({ ...orders.server, stderr: "ignore" }),
    call: (call) => client.callTool(call, { timeout }),
  };
}

const textOf = (blocks) => (blocks ?? []).map((block) => block.text ?? "").join("\n");

async function outcome(work) {
  try {
    const result = await work();
    return { text: textOf(result.content), is_error: Boolean(result.isError) };
  } catch (error) {
    return { failure: String(error?.message ?? error) };
  }
}

const heard = {};
try {
  const { client, transport, call } = orders.older ? older() : newer();
  transport.setProtocolVersion = (revision) => (heard.revision = revision);
  await client.connect(transport, { timeout });
  heard.revision = client.getNegotiatedProtocolVersion?.() ?? heard.revision ?? "";
  heard.instructions = client.getInstructions() ?? "";
  heard.tools = Object.fromEntries((await client.listTools()).tools.map((tool) => [tool.name, tool.inputSchema]));
  heard.resources = (await client.listResources()).resources.map((one) => one.uri);
  const prompts = (await client.listPrompts()).prompts;
  heard.prompts = prompts.map((one) => one.name);
  heard.texts = {};
  for (const uri of heard.resources) heard.texts[uri] = textOf((await client.readResource({ uri })).contents);
  for (const { name, arguments: wanted } of prompts) {
    const given = Object.fromEntries((wanted ?? []).map((one) => [one.name, orders.word]));
    const got = await client.getPrompt({ name, arguments: given });
    heard.texts[name] = textOf(got.messages.map((message) => message.content));
  }
  heard.outcomes = [];
  for (const { tool, arguments: given } of orders.calls)
    heard.outcomes.push(await outcome(() => call(given === null ? { name: tool } : { name: tool, arguments: given })));
  await client.close();
} catch (error) {
  heard.failure = String(error?.message ?? error);
}
process.stdout.write(JSON.stringify(heard));
