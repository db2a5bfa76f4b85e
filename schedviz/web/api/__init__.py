"""REST under `/api/v1/`. `endpoints` has the resources, `schemas` their bodies; the modules here are what all resources share: access,
errors, idempotency, paging, rate limits and the OpenAPI document."""
