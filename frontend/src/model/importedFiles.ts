/** Whether an import report is that of files of a cluster; generated clusters and session files have reports, too. */
export function isImport(report: { files?: readonly unknown[] } | null): boolean {
  return (report?.files?.length ?? 0) > 0;
}
