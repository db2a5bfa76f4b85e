/** Whether a text has all words, and none of those with a leading "-". */
export function textFilter(words: string): (text: string) => boolean {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  const excluded = all.filter((word) => word.startsWith("-") && word.length > 1).map((word) => word.slice(1));
  const included = all.filter((word) => !word.startsWith("-"));
  return (text) => {
    const lower = text.toLowerCase();
    return included.every((word) => lower.includes(word)) && !excluded.some((word) => lower.includes(word));
  };
}
