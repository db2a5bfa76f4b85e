/** Who reads the page, as its shell says. */
const shell = document.getElementById("app")?.dataset;
const may = document.querySelector<HTMLMetaElement>('meta[name="account"]')?.content.split(" ") ?? [];

export const account = {
  name: shell?.["user"] ?? "",
  /** Somebody with an account, who may have sessions; else a guest, who was shown this one. */
  isKnown: Boolean(shell?.["user"]),
  isStaff: may.includes("staff"),
  hasPassword: may.includes("password"),
};
