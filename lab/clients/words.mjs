// Runs a command of Node's with words that are too long for a command line: reads them from standard input as JSON.
import { pathToFileURL } from "node:url";

let text = "";
for await (const piece of process.stdin.setEncoding("utf8")) text += piece;
const { program, words } = JSON.parse(text);
process.argv = [process.argv[0], program, ...words];
await import(pathToFileURL(program).href);
