import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

import { describe, expect, it } from "vitest";

const FONTS = join(import.meta.dirname, "../../src/theme/fonts");
const CHINESE = /[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]/gu;

function filesBelow(folder: string, named: RegExp): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => named.test(name)).map((name) => join(folder, name));
}

function textOf(files: string[]): string {
  return files.map((file) => readFileSync(file, "utf8")).join("");
}

/** The characters that a WOFF2 file has glyphs for. */
function charactersOf(file: string): Set<string> {
  const bytes = readFileSync(join(FONTS, file));
  const tables = bytes.readUInt16BE(12);
  let at = 48;
  const variable = (): number => {
    let value = 0;
    for (;;) {
      const byte = bytes[at++]!;
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  };
  let start = -1;
  let end = 0;
  for (let table = 0; table < tables; table++) {
    const flags = bytes[at++]!;
    const known = flags & 63;
    if (known === 63) at += 4;
    const isOutlines = known === 10 || known === 11;
    let length = variable();
    // Outlines are transformed unless their version is 3, other tables unless it is 0.
    if (isOutlines ? flags >> 6 !== 3 : flags >> 6 !== 0) length = variable();
    if (known === 0) start = end;
    end += length;
  }
  const cmap = brotliDecompressSync(bytes.subarray(at, at + bytes.readUInt32BE(20))).subarray(start);
  const found = new Set<string>();
  for (let record = 0; record < cmap.readUInt16BE(2); record++) {
    const table = cmap.subarray(cmap.readUInt32BE(4 + record * 8 + 4));
    if (table.readUInt16BE(0) !== 4) continue;
    const twice = table.readUInt16BE(6);
    for (let segment = 0; segment < twice; segment += 2)
      for (let code = table.readUInt16BE(16 + twice + segment), last = table.readUInt16BE(14 + segment); code <= last && code < 0xffff; code++)
        found.add(String.fromCharCode(code));
  }
  return found;
}

describe("the bundled fonts", () => {
  const sources = join(import.meta.dirname, "../../src");
  const server = join(import.meta.dirname, "../../../schedviz");
  const docs = join(import.meta.dirname, "../../../docs");
  const ours = new Set(
    textOf([...filesBelow(join(sources, "i18n/messages"), /^(zh-.*|glossary)\.json$/), ...filesBelow(server, /zh-[A-Z]+\.md$/), ...filesBelow(server, /\.py$/), ...filesBelow(docs, /^[a-z-]+\.md$/)]).match(CHINESE),
  );

  it.each(["noto-sans-sc-400.woff2", "noto-sans-sc-600.woff2"])("have every Chinese character of messages, lessons and pages: %s", (file) => {
    const has = charactersOf(file);
    expect(ours.size).toBeGreaterThan(500);
    expect([...ours].filter((character) => !has.has(character)).join(""), "run tools/fonts").toBe("");
  });

  it("have the Chinese name of the language in a separate small file", () => {
    expect([...charactersOf("noto-sans-sc-name.woff2")].sort()).toEqual([..."简体中文"].sort());
  });

  it("have the symbols of panels and messages that Inter's Latin file lacks", () => {
    const has = new Set([...charactersOf("inter-signs.woff2"), ...charactersOf("noto-sans-symbols-2.woff2")]);
    const SIGNS = /[\u0370-\u03ff\u2190-\u2bff]/gu;
    const LATIN_HAS = new Set("↑↓−");
    const used = new Set(textOf(filesBelow(sources, /\.(svelte|ts|css|json)$/)).match(SIGNS));
    expect([...used].filter((sign) => !has.has(sign) && !LATIN_HAS.has(sign)).join(""), "add it to tools/fonts").toBe("");
  });
});
