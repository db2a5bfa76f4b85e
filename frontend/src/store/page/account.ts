/** The user of the page, as its shell names them. */
const shell = document.querySelector<HTMLElement>("#app, [data-site-top]")?.dataset;
const may = document.querySelector<HTMLMetaElement>('meta[name="account"]')?.content.split(" ") ?? [];

export const account = {
  name: shell?.["user"] ?? "",
  /** A user with an account, who may have sessions; otherwise a guest of this session. */
  isKnown: Boolean(shell?.["user"]),
  isStaff: may.includes("staff"),
  hasPassword: may.includes("password"),
};
