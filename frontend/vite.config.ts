import { fileURLToPath } from "node:url";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";

// The built files are served by Django from /static/app/ and looked up in .vite/manifest.json under "src/main.ts".
export default defineConfig(({ command }) => ({
  base: command === "build" ? "/static/app/" : "/",
  plugins: [svelte()],
  build: {
    outDir: fileURLToPath(new URL("../schedviz/web/static/app", import.meta.url)),
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
  test: { include: ["src/**/*.test.ts", "tests/**/*.test.ts"] },
}));
