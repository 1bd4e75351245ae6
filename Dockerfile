# Two stages: the first builds a virtual environment and the front-end files, the second carries only those.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements.lock pyproject.toml README.md LICENSE ./
RUN python -m venv /opt/halve && /opt/halve/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY app app
COPY ingest ingest
COPY reports reports
COPY migrations migrations
COPY tools/build_assets.py tools/build_assets.py
RUN /opt/halve/bin/python tools/build_assets.py \
    && /opt/halve/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/halve --create-home halve
COPY --from=build /opt/halve /opt/halve
USER halve
ENV PATH=/opt/halve/bin:$PATH HALVE_DATA_DIR=/var/lib/halve/data HALVE_HOST=0.0.0.0 PYTHONUNBUFFERED=1
VOLUME /var/lib/halve/data
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz', timeout=4)"]
CMD ["halve", "serve"]
