/** Swagger UI on the page of docs_page.py. What changes something needs the CSRF token, as on every page. */
"use strict";

const place = document.getElementById("docs");
window.SwaggerUIBundle({
  domNode: place,
  url: place.dataset.schema,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  requestInterceptor(request) {
    request.headers["X-CSRFToken"] = document.querySelector('meta[name="csrf-token"]').content;
    return request;
  },
});
