// SPDX-License-Identifier: MIT
// Compiles the TypeScript and assembles the npm packages: node build.mjs FOLDER_WITH_MODULES FOLDER_FOR_PACKAGES
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [modules, out] = process.argv.slice(2);
const compiled = join(out, 'compiled');
rmSync(compiled, { recursive: true, force: true });
// Editors show the comments in the declarations. A page should not load them.
for (const more of [[], ['--declaration', 'false', '--removeComments']])
  execFileSync('npx', ['tsc', '-p', here, '--outDir', compiled, ...more], { cwd: here, stdio: 'inherit' });
const { version } = await import(join(compiled, 'generated.js'));

const shared = readdirSync(compiled).filter((name) => /\.(js|d\.ts)$/.test(name));
for (const part of ['client', 'server', 'three']) {
  if (!existsSync(join(here, 'packages', `${part}.json`))) continue;
  const to = join(out, part);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(join(to, part), { recursive: true });
  if (part !== 'three') for (const name of shared) copyFileSync(join(compiled, name), join(to, name));
  for (const name of readdirSync(join(compiled, part))) copyFileSync(join(compiled, part, name), join(to, part, name));
  if (part !== 'three') copyFileSync(join(modules, `reckoner_${part}.wasm`), join(to, part, `reckoner_${part}.wasm`));
  copyFileSync(join(here, '../../LICENSE'), join(to, 'LICENSE'));
  copyFileSync(join(here, 'packages', `${part}.md`), join(to, 'README.md'));
  const manifest = JSON.parse(readFileSync(join(here, 'packages', `${part}.json`), 'utf8'));
  for (const kind of ['dependencies', 'peerDependencies'])
    for (const name of Object.keys(manifest[kind] ?? {})) if (name.startsWith('@reckoner/')) manifest[kind][name] = version;
  writeFileSync(join(to, 'package.json'), `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}
