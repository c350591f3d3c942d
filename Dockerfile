# One image for each component: COMPONENT is extender, device-plugin or operator. They differ in their last layer only,
# so that the libraries are built, pulled and loaded once. The build context is dist/image, which kind/images.sh fills
# with the wheels that requirements.lock pins: a build needs no network.
ARG BASE=python:3.11-slim

FROM ${BASE} AS build
COPY libraries /wheels
RUN python3 -m pip install --quiet --no-cache-dir --no-index --find-links=/wheels --target=/libraries \
      --requirement=/wheels/requirements.txt
COPY gpuyard /gpuyard
RUN python3 -m pip install --quiet --no-cache-dir --no-index --no-deps --target=/app /gpuyard/*.whl

FROM ${BASE}
COPY --from=build /libraries /libraries
COPY --from=build /app /app
# kopf asks for the name of its user, and a uid that comes from elsewhere has none.
ENV PYTHONPATH=/app:/libraries PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 USER=gpuyard
# Any uid will do; this one is nobody's.
USER 65532:65532
ARG COMPONENT
ENV COMPONENT=${COMPONENT}
ENTRYPOINT ["/bin/sh", "-c", "exec /app/bin/gpuyard-$COMPONENT \"$@\"", "--"]
