//! A device: its memory, its queue, and what goes wrong with it.

use crate::{GpuError, Result};
use std::sync::{Arc, Mutex, PoisonError};
use wgpu::{BufferUsages, PollType};

/// Bytes that are handed to the device at once.
const PIECE: usize = 32 << 20;

/// A device that is open, tested and ready for [`GpuProducts`](crate::GpuProducts). A clone is the
/// same device.
#[derive(Debug, Clone)]
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    pub(crate) adapter: String,
    /// Operations of one dispatch.
    pub(crate) operations: u64,
    /// Bytes that the caller allows.
    pub(crate) memory: u64,
    troubles: Arc<Mutex<Troubles>>,
}

/// What the driver reported.
#[derive(Debug, Default)]
struct Troubles {
    lost: Option<String>,
    refused: Option<String>,
}

impl Gpu {
    /// The device of an adapter, not yet tested.
    pub(crate) fn connect(adapter: &wgpu::Adapter, memory: u64, operations: u64) -> Result<Self> {
        let name = adapter.get_info().name;
        let request = wgpu::DeviceDescriptor {
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::MemoryUsage,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&request))
            .map_err(|e| GpuError::NoDevice { adapter: name.clone(), problem: e.to_string() })?;
        let troubles = Arc::new(Mutex::new(Troubles::default()));
        let noted = troubles.clone();
        device.set_device_lost_callback(move |reason, message| {
            noted.lock().unwrap_or_else(PoisonError::into_inner).lost =
                Some(format!("{reason:?}: {message}"));
        });
        let noted = troubles.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.refused.get_or_insert(error.to_string());
        }));
        Ok(Gpu { device, queue, adapter: name, operations, memory, troubles })
    }

    /// Name of the adapter.
    pub fn adapter(&self) -> &str {
        &self.adapter
    }

    /// Gives the device up: later products on it are the error [`GpuError::Lost`].
    pub fn destroy(&self) {
        self.device.destroy();
    }

    /// The driver's message, if the device is lost.
    pub fn lost(&self) -> Option<String> {
        self.troubles.lock().unwrap_or_else(PoisonError::into_inner).lost.clone()
    }

    /// The most bytes of one buffer.
    pub(crate) fn largest_buffer(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_buffer_size.min(limits.max_storage_buffer_binding_size)
    }

    /// An error if the driver reported one.
    pub(crate) fn check(&self) -> Result<()> {
        // calls the handlers; a failure is what they note
        let _ = self.device.poll(PollType::Poll);
        let mut troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = troubles.refused.take();
        match (&troubles.lost, refused) {
            (Some(problem), _) => Err(GpuError::Lost { problem: problem.clone() }),
            (None, Some(problem)) => Err(GpuError::Refused { problem }),
            (None, None) => Ok(()),
        }
    }

    /// A buffer of `bytes` bytes; `None` if there is no memory for it.
    pub(crate) fn buffer(&self, bytes: u64, usage: BufferUsages) -> Result<Option<wgpu::Buffer>> {
        self.check()?;
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let size = bytes.next_multiple_of(wgpu::COPY_BUFFER_ALIGNMENT).max(256);
        let request =
            wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = self.device.create_buffer(&request);
        let failed = pollster::block_on(scope.pop()).is_some();
        self.check()?;
        Ok((!failed).then_some(buffer))
    }

    /// Writes numbers to a buffer from the byte `offset` on, and waits for them.
    pub(crate) fn write(&self, buffer: &wgpu::Buffer, offset: u64, values: &[f32]) -> Result<()> {
        for (i, piece) in values.chunks(PIECE / 4).enumerate() {
            let bytes: Vec<u8> = piece.iter().flat_map(|value| value.to_le_bytes()).collect();
            self.queue.write_buffer(buffer, offset + (i * PIECE) as u64, &bytes);
            let sent = self.queue.submit([]);
            self.wait(Some(sent))?;
        }
        Ok(())
    }

    /// Waits for a submission, or for all.
    pub(crate) fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<()> {
        let wait = PollType::Wait { submission_index: submission, timeout: None };
        let polled = self.device.poll(wait);
        self.check()?;
        polled.map_err(|error| GpuError::Refused { problem: error.to_string() })?;
        Ok(())
    }

    /// The first `count` numbers of a buffer that can be mapped.
    pub(crate) fn read(&self, buffer: &wgpu::Buffer, count: usize) -> Result<Vec<f32>> {
        let outcome = Arc::new(Mutex::new(None));
        let (noted, size) = (outcome.clone(), 4 * count as u64);
        buffer.map_async(wgpu::MapMode::Read, ..size, move |mapped| {
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(mapped);
        });
        self.wait(None)?;
        let refused = |problem: &dyn std::fmt::Display| GpuError::Refused {
            problem: format!("reading results: {problem}"),
        };
        let mapped = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        match mapped {
            Some(Ok(())) => {}
            Some(Err(error)) => return Err(refused(&error)),
            None => return Err(refused(&"no answer")),
        }
        let view = buffer.get_mapped_range(..size).map_err(|error| refused(&error))?;
        let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        let values = view.chunks_exact(4).map(number).collect();
        drop(view);
        buffer.unmap();
        Ok(values)
    }
}
