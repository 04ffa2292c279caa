//! The adapters of a machine, and the choice among them.

use crate::device::Gpu;
use crate::{GpuError, Result};
use std::fmt;
use wgpu::DeviceType;

/// An adapter: a graphics card, or a program that stands in for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Its name, such as `"NVIDIA H100"`.
    pub name: String,
    /// `"discrete"`, `"integrated"`, `"virtual"`, `"software"` or `"other"`.
    pub kind: &'static str,
    /// The interface: `"vulkan"`, `"metal"` or `"dx12"`.
    pub backend: String,
    /// The driver and its version.
    pub driver: String,
    /// The most bytes of one buffer: all points, 4 bytes a coordinate, must fit it.
    pub largest_buffer: u64,
}

impl fmt::Display for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {}, {})", self.name, self.kind, self.backend, self.driver)
    }
}

/// Which device to open, and how much of it to take.
///
/// ```
/// use nystrom_gpu::GpuOptions;
/// let options = GpuOptions { name: Some("nvidia".into()), ..GpuOptions::default() };
/// assert_eq!(options.memory, None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuOptions {
    /// A part of the adapter's name, in either case. `None`: a discrete card before an integrated
    /// one before others. Adapters in software have to be named.
    pub name: Option<String>,
    /// The most bytes to take of the device's memory. `None`: what it gives.
    pub memory: Option<u64>,
    /// The most operations (one for each f32 subtraction, multiply-add or function) of a dispatch,
    /// which a system's watchdog ends if it takes seconds. `None`: a quarter of a second of a slow
    /// device of the kind.
    pub operations: Option<u64>,
}

/// The adapters of the machine.
///
/// ```no_run
/// for adapter in nystrom_gpu::adapters() {
///     println!("{adapter}"); // NVIDIA H100 (discrete, vulkan, 550.90.07)
/// }
/// ```
pub fn adapters() -> Vec<Adapter> {
    found().iter().map(described).collect()
}

impl Gpu {
    /// The device of the adapter that these options name, without a test of its sums.
    pub(crate) fn untested(options: &GpuOptions) -> Result<Self> {
        let mut all = found();
        all.sort_by_key(|adapter| preference(adapter.get_info().device_type));
        let fits = |adapter: &&wgpu::Adapter| match &options.name {
            Some(name) => adapter.get_info().name.to_lowercase().contains(&name.to_lowercase()),
            None => adapter.get_info().device_type != DeviceType::Cpu,
        };
        let Some(adapter) = all.iter().find(fits) else {
            let wanted = options.name.as_ref().map(|name| format!("the name {name:?}"));
            let names: Vec<String> = all.iter().map(|adapter| described(adapter).name).collect();
            return Err(GpuError::NoAdapter {
                wanted: wanted.unwrap_or_else(|| "a graphics card".into()),
                found: if names.is_empty() { "none".into() } else { names.join(", ") },
            });
        };
        let operations = match adapter.get_info().device_type {
            DeviceType::DiscreteGpu => 250_000_000_000,
            DeviceType::Cpu => 250_000_000,
            _ => 25_000_000_000,
        };
        let operations = options.operations.unwrap_or(operations);
        Gpu::connect(adapter, options.memory.unwrap_or(u64::MAX), operations)
    }
}

fn found() -> Vec<wgpu::Adapter> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        flags: wgpu::InstanceFlags::empty(),
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()))
}

fn described(adapter: &wgpu::Adapter) -> Adapter {
    let (info, limits) = (adapter.get_info(), adapter.limits());
    let kind = match info.device_type {
        DeviceType::DiscreteGpu => "discrete",
        DeviceType::IntegratedGpu => "integrated",
        DeviceType::VirtualGpu => "virtual",
        DeviceType::Cpu => "software",
        DeviceType::Other => "other",
    };
    Adapter {
        name: info.name,
        kind,
        backend: info.backend.to_str().into(),
        driver: format!("{} {}", info.driver, info.driver_info).trim().into(),
        largest_buffer: limits.max_buffer_size.min(limits.max_storage_buffer_binding_size),
    }
}

fn preference(kind: DeviceType) -> usize {
    let order = [
        DeviceType::DiscreteGpu,
        DeviceType::IntegratedGpu,
        DeviceType::VirtualGpu,
        DeviceType::Other,
        DeviceType::Cpu,
    ];
    order.iter().position(|&other| other == kind).unwrap_or(order.len())
}
