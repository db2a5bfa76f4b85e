import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Leaves a `.gz` beside every text file: the static file server sends it to whoever takes it. */
function compressed(folder: string): Plugin {
  return {
    name: "compressed",
    apply: "build",
    closeBundle() {
      for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }))
        if (/\.(js|css|svg)$/.test(name)) writeFileSync(join(folder, `${name}.gz`), gzipSync(readFileSync(join(folder, name)), { level: 9 }));
    },
  };
}

const BUILT = fileURLToPath(new URL("../schedviz/web/static/app", import.meta.url));

// The built files are served by Django from /static/app/ and looked up in .vite/manifest.json under "src/main.ts".
export default defineConfig(({ command }) => ({
  base: command === "build" ? "/static/app/" : "/",
  plugins: [svelte(), compressed(BUILT)],
  build: {
    outDir: BUILT,
    emptyOutDir: true,
    manifest: true,
    target: "es2022",
    // The content security policy allows no data: URLs but for images.
    assetsInlineLimit: 0,
    // The polyfill would be an inline script in older output; modulepreload is supported by every browser we target.
    modulePreload: { polyfill: false },
    rollupOptions: { input: "src/main.ts" },
  },
  server: {
    proxy: {
      "/api": { target: process.env["SCHEDVIZ_URL"] ?? "http://127.0.0.1:8000", changeOrigin: false },
      "/ws": { target: process.env["SCHEDVIZ_URL"] ?? "http://127.0.0.1:8000", ws: true },
    },
  },
  // No test measures time: a busy machine is slow and not broken.
  test: { include: ["src/**/*.test.ts", "tests/**/*.test.ts"], testTimeout: 60_000 },
}));
