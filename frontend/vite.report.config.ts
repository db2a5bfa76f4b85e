import { fileURLToPath } from "node:url";

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** The messages of the page that a report does not show: `translate.ts` bundles them. */
function withoutMessages(): Plugin {
  const PAGE = /\/i18n\/messages\/en(\.actions)?\.json$/;
  return { name: "without-messages", enforce: "pre", load: (id) => (PAGE.test(id) ? "{}" : null) };
}

// The script and the style of reports. schedviz/experiments/report puts them into every report, so that it works without a network.
export default defineConfig({
  plugins: [withoutMessages(), svelte()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: fileURLToPath(new URL("../schedviz/experiments/report/built", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 1_000_000,
    lib: { entry: "src/report.ts", formats: ["iife"], name: "schedvizReport", fileName: () => "report.js", cssFileName: "report" },
  },
});
