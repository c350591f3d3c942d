# One image for each component: COMPONENT is extender, device-plugin or operator. The build context is a folder of
# wheels (kind/images.sh fills it), so that a build needs no network and installs only what requirements.lock pins.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
ARG COMPONENT
COPY . /wheels
# Into a folder of its own, with compiled modules: the root file system is read-only when it runs.
RUN python3 -m pip install --quiet --no-cache-dir --no-index --find-links=/wheels --target=/app \
      "gpuyard[${COMPONENT}]" && \
    ln -s "gpuyard-${COMPONENT}" /app/bin/component

FROM ${BASE}
COPY --from=build /app /app
ENV PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# Any uid will do; this one is nobody's, and kopf asks for a user's name all the same.
ENV USER=gpuyard
USER 65532:65532
ENTRYPOINT ["/app/bin/component"]
