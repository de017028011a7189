// Written by `told install`; `told uninstall` removes it. (told:own)
import { spawn } from "node:child_process";

const PROGRAM = "__PROGRAM__";
const ARGUMENTS = "__ARGUMENTS__";
const FOLDERS = "__FOLDERS__";
const TIMEOUT = 1000; // milliseconds, including the start of the interpreter
const END_TIMEOUT = 3000; // nobody waits for an answer

// Runs told's hook without a shell; if it fails, the answer is empty.
const ask = (event, payload) =>
  new Promise((resolve) => {
    let output = "";
    let child;
    const done = (answer) => {
      clearTimeout(timer);
      resolve(answer);
    };
    const timer = setTimeout(() => {
      try {
        child?.kill("SIGKILL");
      } catch {}
      resolve({});
    }, event === "stop" || event === "end" ? END_TIMEOUT : TIMEOUT);
    try {
      child = spawn(PROGRAM, [...ARGUMENTS, "opencode", event, ...FOLDERS], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
      });
      child.on("error", () => done({}));
      child.on("close", () => {
        try {
          done(output ? JSON.parse(output) : {});
        } catch {
          done({});
        }
      });
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (piece) => (output += piece));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(payload));
    } catch {
      done({});
    }
  });

const contextOf = (answer) => answer.additionalContext ?? answer.hookSpecificOutput?.additionalContext ?? "";

// `opencode run "words"` keeps the quotes.
const typed = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text.trim().replace(/^"([^"]*)"$/, "$1"))
    .join("\n");

// opencode sorts parts by id: this one comes after what the user typed.
const piece = (output, text) => ({
  id: `${output.parts.at(-1).id}told`,
  sessionID: output.message.sessionID,
  messageID: output.message.id,
  type: "text",
  synthetic: true,
  text,
});

export const Told = async ({ client, directory }) => {
  const briefs = new Map(); // session id -> text for its system prompt
  const helpers = new Set(); // sessions that another session started: no user types in them
  const commanded = new Set(); // sessions whose next message is a command that told has answered
// begin: full profile
  const reminders = new Map(); // call id -> text to add to its result
// end: full profile

  const said = (name, session, more) => ({
    hook_event_name: name,
    session_id: session,
    cwd: directory,
    ...more,
  });

  const isHelper = async (session) => {
    if (helpers.has(session)) return true;
    try {
      const found = await client.session.get({ path: { id: session } });
      if ((found.data ?? found)?.parentID) helpers.add(session);
    } catch {}
    return helpers.has(session);
  };

  const begin = async (session) => {
    if (briefs.has(session)) return;
    briefs.set(session, "");
    const event = (await isHelper(session)) ? "helper" : "start";
    briefs.set(session, contextOf(await ask(event, said("session.created", session))));
  };

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id;
      if (event.type === "session.created" && event.properties?.info?.parentID) helpers.add(session);
      if (event.type === "session.idle") await ask("stop", said(event.type, session));
      if (event.type === "session.compacted")
        briefs.set(session, contextOf(await ask("compacted", said(event.type, session))));
      if (event.type === "session.deleted") {
        briefs.delete(session);
        helpers.delete(session);
      }
    },

    "command.execute.before": async (input, output) => {
      if (!input.command?.startsWith("mem/")) return;
      commanded.add(input.sessionID);
      const prompt = `/mem:${input.command.slice(4)} ${input.arguments ?? ""}`;
      const text = contextOf(await ask("prompt", said("chat.message", input.sessionID, { prompt })));
      if (text) output.parts.push({ type: "text", synthetic: true, text });
    },

    "chat.message": async (input, output) => {
      await begin(input.sessionID);
      if (commanded.delete(input.sessionID) || helpers.has(input.sessionID)) return;
      const prompt = typed(output.parts);
      if (!prompt) return;
      const text = contextOf(await ask("prompt", said("chat.message", input.sessionID, { prompt })));
      if (text) output.parts.push(piece(output, text));
    },

    "experimental.chat.system.transform": async (input, output) => {
      const text = briefs.get(input.sessionID);
      if (!text || output.system.some((line) => /title generator/i.test(line))) return;
      output.system.push(text);
    },

    "experimental.session.compacting": async (input, output) => {
      const text = contextOf(await ask("compact", said("session.compacting", input.sessionID)));
      if (text) output.context.push(text);
    },
// begin: full profile

    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: output.args };
      if (helpers.has(input.sessionID)) call.agent_id = input.sessionID;
      const answer = await ask("tool", said("tool.execute.before", input.sessionID, call));
      const decided = answer.hookSpecificOutput ?? answer;
      if (decided.permissionDecision === "deny")
        throw new Error(decided.permissionDecisionReason ?? "A rule that you locked forbids it.");
      const text = contextOf(answer);
      if (text) reminders.set(input.callID, text);
    },

    // opencode gives the model no text before a tool runs, so it is added to the result.
    "tool.execute.after": async (input, output) => {
      const text = reminders.get(input.callID);
      reminders.delete(input.callID);
      if (text && typeof output?.output === "string") output.output += `\n\n${text}`;
    },
// end: full profile

    dispose: async () => {
      const mine = [...briefs.keys()].filter((session) => !helpers.has(session));
      await Promise.all(mine.map((session) => ask("end", said("dispose", session))));
    },
  };
};
