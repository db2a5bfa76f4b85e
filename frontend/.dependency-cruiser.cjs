// The arrows of ARCHITECTURE.md for the front end: views, ui → store, commands, render → layout → model; wire → model.
const only = (name, from, allowed) => ({
  name,
  severity: "error",
  from: { path: `^src/${from}/` },
  to: { path: "^src/", pathNot: [`^src/${from}/`, ...allowed.map((to) => `^src/${to}/`)] },
});

module.exports = {
  forbidden: [
    only("model-stands-alone", "model", []),
    only("layout-knows-the-model", "layout", ["model"]),
    only("render-draws-layouts", "render", ["layout", "model", "theme"]),
    only("wire-knows-the-model", "wire", ["model"]),
    only("api-knows-the-model", "api", ["model", "wire"]),
    only("i18n-knows-the-model", "i18n", ["model"]),
    only("editor-knows-words", "editor", ["i18n", "model"]),
    only("store-holds-it-together", "store", ["model", "wire", "api", "i18n"]),
    only("commands-act-on-the-store", "commands", ["store", "model", "i18n"]),
    only("ui-is-small-parts", "ui", ["model", "i18n", "theme"]),
    {
      name: "svelte-only-at-the-edge",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(store|views|ui)/|^src/(main|report)\\.ts$" },
      to: { path: "^node_modules/svelte" },
    },
    { name: "no-circles", severity: "error", from: {}, to: { circular: true } },
    { name: "no-orphans", severity: "error", from: { orphan: true, pathNot: ["\\.d\\.ts$", "\\.test\\.ts$", "^src/ui/(column|barPart)\\.ts$", "^src/views/experiments/results/trialActions\\.ts$"] }, to: {} },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "svelte", "default"] },
  },
};
