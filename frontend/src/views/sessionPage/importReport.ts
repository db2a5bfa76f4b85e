import { say, type Said } from "../../i18n/phrase";
import { language, t } from "../../i18n/translate";
import { isClusterImport } from "../../model/sessions/importedFiles";
import { printCount } from "../../model/text/quantity";
import type { ImportReport } from "../../api/importReport";

/** An import report in two parts: figures, and remarks. */
export interface ReadReport {
  rows: [string, string][];
  warnings: Said[];
}

export function readReport(report: ImportReport | null): ReadReport | null {
  // A generated cluster was not imported.
  if (!report || !(isClusterImport(report) || report.file || report.warnings?.length || report.dropped?.length)) return null;
  const { file } = report;
  const rows: [string, string][] = [
    ...(file
      ? ([
          [t("report.file"), t("report.file.of", { name: file.name, version: file.engineVersion })],
          [t("report.again"), t("report.again.of", { commands: printCount(file.commands), cycles: printCount(file.cycles), events: printCount(file.events) })],
          [t("report.verified"), t(file.verified ? "report.verified.yes" : "report.verified.no")],
        ] satisfies [string, string][])
      : []),
    ...(report.files ?? []).map((file): [string, string] => [file.name, `${file.format}, ${printCount(file.objects)}`]),
    ...Object.entries(report.kinds ?? {}).map(([kind, count]): [string, string] => [kind, printCount(count)]),
  ];
  const dropped = (report.dropped ?? []).map((field) =>
    t("report.dropped", {
      count: printCount(field.count),
      kind: field.kind,
      reason: say(null, field.reason).text,
      examples: field.examples?.length ? `(${field.examples.join(", ")}${field.count > field.examples.length ? ", …" : ""})` : "",
    }),
  );
  const warnings = (report.warnings ?? []).map((warning, i) => say(report.warningPhrases?.[i], warning));
  return { rows, warnings: [...warnings, ...dropped.map((text) => ({ text, lang: language() }))] };
}
