"""The resources of `/api/v1/`, one module for each; `urls` of the package above lists their addresses. What several of them share about
sessions is here, too: reading a request for a new one (`new_session`), their API form (`session_bodies`), the `?at=` parameter (`moments`).
"""
