# Only the program, which needs nothing else: no shell, no libraries, no user but this one.
# The folder to build from has the unpacked archives of the musl targets, as `.github/workflows/release.yml` makes it.
FROM scratch
ARG TARGETPLATFORM=linux/amd64
COPY ${TARGETPLATFORM}/toolcheck /toolcheck
COPY ${TARGETPLATFORM}/LICENSE-APACHE ${TARGETPLATFORM}/LICENSE-MIT ${TARGETPLATFORM}/THIRD-PARTY-NOTICES.txt /licenses/
USER 65532:65532
WORKDIR /work
ENTRYPOINT ["/toolcheck"]
