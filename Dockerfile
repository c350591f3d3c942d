# One image for each component: COMPONENT is extender, device-plugin or operator. The libraries that all of them use are
# one layer, which is built, pulled and loaded once. The build context is dist/image, which kind/images.sh fills with the
# wheels that requirements.lock pins: a build needs no network.
ARG BASE=python:3.11-slim

FROM ${BASE} AS libraries
COPY libraries /wheels
# Bytecode for all but the clients' models and calls, of which nobody here loads one: they would double the image.
RUN echo 'set -eu; target=$1; requirements=$2; \
      python3 -m pip install --quiet --no-cache-dir --no-compile --no-index --find-links=/wheels --target="$target" \
        --requirement="/wheels/$requirements"; \
      find "$target" -type d -name tests -prune -exec rm -r {} +; \
      find "$target" \( -name "*_test.py" -o -name "*.pyi" \) -delete; \
      python3 -m compileall -q -x "/kubernetes/(aio/)?client/(models|api)/" "$target"' > /install && \
    sh /install /libraries every.txt

FROM libraries AS component
ARG COMPONENT
RUN sh /install /component "$COMPONENT.txt" && cd /libraries && for found in *; do rm -rf "/component/$found"; done

FROM ${BASE}
COPY --from=libraries /libraries /libraries
COPY --from=component /component /component
COPY gpuyard /gpuyard
RUN python3 -m pip install --quiet --no-cache-dir --no-index --no-deps --target=/app /gpuyard/*.whl
# kopf asks for the name of its user, and a uid that comes from elsewhere has none.
ENV PYTHONPATH=/app:/component:/libraries PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 USER=gpuyard
# Any uid will do; this one is nobody's.
USER 65532:65532
ARG COMPONENT
ENV COMPONENT=${COMPONENT}
ENTRYPOINT ["/bin/sh", "-c", "exec /app/bin/gpuyard-$COMPONENT \"$@\"", "--"]
