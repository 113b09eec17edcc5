/// The messages and clients of `base.v1`, without a `protoc` on the machine.
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let protos = std::env::var("PEMBA_PROTO").unwrap_or("../../../proto".into());
    let files = ["tenancy", "schema", "data", "permission"].map(|name| format!("base/v1/{name}.proto"));
    println!("cargo:rerun-if-changed={protos}");
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("proto.rs")
        .compile_fds(protox::compile(files, [protos])?)?;
    Ok(())
}
