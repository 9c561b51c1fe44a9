// SPDX-License-Identifier: MIT
// Asks the site's own search, with the index of build/site, what a newcomer would ask. The right page must be among the
// first three.
//   node search.mjs SITE            all questions
//   node search.mjs SITE WORDS...   prints the first pages for these words
import {readFileSync, readdirSync} from "node:fs";
import {join} from "node:path";
import vm from "node:vm";

const questions = [
  ["lag compensation", "docs/rewind.html"],
  ["why do entities jitter", "docs/TROUBLESHOOTING.html"],
  ["how do I send a message", "docs/FIELDS.html"],
  ["two windows that see each other", "docs/tutorial/02-two-windows.html"],
  ["client_joined", "docs/tutorial/02-two-windows.html"],
  ["they slide after a respawn", "docs/TROUBLESHOOTING.html"],
  ["the server sends 60 updates a second", "docs/TROUBLESHOOTING.html"],
  ["coming from Mirror", "docs/coming-from.html"],
  ["what does threshold mean", "docs/glossary.html"],
  ["what is a motion", "docs/concepts.html"],
  ["rent a machine for my server", "docs/tutorial/07-rented-machine.html"],
  ["tokens", "docs/SECURITY.html"],
  ["passenger on a ship", "docs/INTEGRATION.html"],
  ["upgrade to a new version", "docs/UPGRADING.html"],
];

const [site, ...words] = process.argv.slice(2);
const folder = join(site, "assets/javascripts/workers");
const worker = readFileSync(join(folder, readdirSync(folder).find((name) => /^search\..*\.js$/.test(name))), "utf8");

// The worker of the search, as a browser would run it.
const replies = [];
const listeners = [];
const self = {
  addEventListener: (kind, listener) => listeners.push(listener),
  postMessage: (data) => replies.push(data),
  importScripts: () => {},
  console: {log() {}, warn() {}, error() {}},
};
self.self = self;
vm.runInNewContext(worker, self);
async function ask(type, data) {
  const before = replies.length;
  for (const listener of listeners) await listener({data: {type, data}});
  while (replies.length === before) await new Promise((done) => setTimeout(done, 1));
  return replies[replies.length - 1].data;
}

const index = JSON.parse(readFileSync(join(site, "search/search_index.json"), "utf8"));
await ask(0, {...index, options: {pipeline: ["trimmer", "stopWordFilter"], suggestions: false}});

/** The pages that the search lists, best first. */
async function pages(query) {
  return (await ask(2, query)).items.map((group) => group[0].location.split("#")[0]);
}

if (words.length > 0) {
  console.log((await pages(words.join(" "))).slice(0, 8).join("\n"));
} else {
  let wrong = 0;
  for (const [query, page] of questions) {
    const first = (await pages(query)).slice(0, 3);
    if (first.includes(page)) continue;
    ++wrong;
    console.log(`"${query}" does not find ${page}, but ${first.join(", ") || "nothing"}`);
  }
  console.log(`${questions.length - wrong} of ${questions.length} questions find their page`);
  process.exit(wrong === 0 ? 0 : 1);
}
